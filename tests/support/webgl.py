"""What browser tests leave out: drawing by WebGL, which a machine without a graphics card does in software, seconds per picture.

Scenes are set up and shaders compiled as ever, and errors are seen; texts, tables and lines (SVG) are drawn. Pictures that WebGL
draws are looked at by tests/studio/test_studio_page.py, tests/views/test_pictures.py and tests/views/test_report_parts.py.
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
