"""How well do controllers follow a motion? A PD and a computed-torque controller on one robot, with the energy balance.

Run: python examples/08_simulate_with_controller.py. It writes out/energy.html and out/result.nc.
"""

from pathlib import Path

import numpy as np

import flexapod as fp

OUT = Path("out")
OUT.mkdir(exist_ok=True)

robot = fp.load("stewart-3-3")
motion = fp.motions.staicu_motion("vertical-z")
plant = robot.with_parameters({"platform.mass": 55.0})  # heavier than the controller believes

controllers = {
    "pd": fp.PD(kp=2e5, kd=5e3),
    "pd with feed-forward": fp.FeedForwardPD(kp=2e5, kd=5e3, model=robot),
    "computed torque": fp.ComputedTorque(kp=400.0, kd=40.0, model=robot),
}
for name, controller in controllers.items():
    result = fp.simulate(plant, motion, controller=controller, step=1e-3, progress=False)
    wanted = fp.motions.resample(motion, time=np.minimum(result.time.values, motion.time[-1]))
    error = np.linalg.norm(result.position.values - wanted.position, axis=1).max()
    left = float(abs(result.energy_residual).max())
    print(f"{name:21} off by {1e3 * error:7.3f} mm at most, {float(abs(result.force).max()):6.1f} N, balance left {left:.1e} J")

# A sampled controller: 500 times a second, one period late, encoders that count micrometres, at most 400 N.
digital = fp.PD(kp=2e5, kd=5e3, rate=500.0, delay=2e-3, resolution=1e-6, limit=400.0)
sampled = fp.simulate(plant, motion, controller=digital, step=1e-3, progress=False)
ended = sampled.attrs.get("stopped") or "followed to the end"
print(f"{'sampled pd':21} {ended}, {float(abs(sampled.force).max()):.1f} N")

fp.figures.save_figure(fp.figures.energy_figure(result, "Energy of stewart-3-3 under computed torque"), OUT / "energy.html")
fp.save(result, OUT / "result.nc")
print("wrote out/energy.html and out/result.nc")
