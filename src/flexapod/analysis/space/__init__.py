"""Sets of poses: limits, grids, boxes that are proven inside or outside, surfaces, curves of singular poses."""
