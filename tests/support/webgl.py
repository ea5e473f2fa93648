"""Drawing by WebGL, which browser tests leave out: in software, without a graphics card, a picture takes seconds.

Scenes are set up and shaders compiled as ever, and errors are seen; texts, tables and lines (SVG) are drawn. Pictures that WebGL
draws are tested by tests/studio/test_studio_page.py, tests/views/test_pictures.py and tests/views/test_report_parts.py.
"""

DRAWING_LATER = """
window.flexapodDraws = false, window.flexapodMissed = false;
for (const context of [WebGLRenderingContext, WebGL2RenderingContext])
  for (const name of [
    'drawElements', 'drawArrays', 'drawElementsInstanced', 'drawArraysInstanced', 'drawRangeElements', 'clear',
  ]) {
    const usual = context.prototype[name];
    if (usual) context.prototype[name] = function (...given) {
      if (window.flexapodDraws) usual.apply(this, given); else window.flexapodMissed = true;
    };
  }
"""
"""Script of a page: it draws only while `flexapodDraws` is set, and notes what it missed."""
