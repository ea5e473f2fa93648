// Shared C++ side of the robot: constants, trajectory, leg kinematics (the same numbers as bench-6ups.yaml).
#pragma once
#include <Eigen/Dense>
#include <array>
#include <cmath>
#include <cstdio>
#include <algorithm>
using V3 = Eigen::Vector3d; using M3 = Eigen::Matrix3d; using V6 = Eigen::Matrix<double, 6, 1>; using M6 = Eigen::Matrix<double, 6, 6>;
constexpr double PI = 3.14159265358979323846, Gr = 9.81, RB = 2.5, RP = 2.5;
constexpr double MC = 15, LC = 1.5, RC = 0.06, MP = 10, LP = 3, RPi = 0.04, MPL = 50;
inline const double H0 = 2.5 * std::tan(PI / 3);
struct Geo { std::array<V3, 6> b, p; Geo() {
    double tb[6] = {0, 120, 120, -120, -120, 0}, tp[6] = {60, 60, 180, 180, -60, -60};
    for (int i = 0; i < 6; i++) { b[i] = V3(RB * cos(tb[i] * PI / 180), RB * sin(tb[i] * PI / 180), 0);
                                  p[i] = V3(RP * cos(tp[i] * PI / 180), RP * sin(tp[i] * PI / 180), 0); } } };
inline const Geo geo;
inline V3 rod(double m, double l, double r) { double t = m * (l * l / 12 + r * r / 4); return V3(t, t, 0.5 * m * r * r); }
struct Plat { V3 p; M3 R; V3 v, w, a, al; };
inline Plat traj(double t) {
  const double W = 2 * PI / 3, dz = 0.15, dp = 15 * PI / 180;
  double s = 1 - cos(W * t), s1 = W * sin(W * t), s2 = W * W * cos(W * t), c = cos(dp * s), d = sin(dp * s);
  Plat x; x.p = V3(0, 0, H0 - dz * s); x.R << c, -d, 0, d, c, 0, 0, 0, 1;
  x.v = V3(0, 0, -dz * s1); x.w = V3(0, 0, dp * s1); x.a = V3(0, 0, -dz * s2); x.al = V3(0, 0, dp * s2); return x; }
struct Leg { V3 q, qd, qdd, n, r; M3 Jinv; };
inline void ik(const Plat& x, std::array<Leg, 6>& L) {
  const V3 ex = V3::UnitX();
  for (int i = 0; i < 6; i++) { Leg& l = L[i]; l.r = x.R * geo.p[i]; V3 d = x.p + l.r - geo.b[i];
    double len = d.norm(); l.n = d / len; l.q = V3(atan2(-l.n.y(), l.n.z()), asin(l.n.x()), len);
    double h = std::hypot(l.n.y(), l.n.z()); V3 ey(0, l.n.z() / h, -l.n.y() / h);
    M3 J; J.col(0) = ex.cross(d); J.col(1) = ey.cross(d); J.col(2) = l.n; l.Jinv = J.inverse();
    l.qd = l.Jinv * (x.v + x.w.cross(l.r)); V3 Om = ex * l.qd[0] + ey * l.qd[1], gy = ex.cross(ey) * (l.qd[0] * l.qd[1]);
    V3 ap = x.a + x.al.cross(l.r) + x.w.cross(x.w.cross(l.r));
    l.qdd = l.Jinv * (ap - gy.cross(d) - Om.cross(Om.cross(d)) - 2 * l.qd[2] * Om.cross(l.n)); } }
#include <ctime>
inline double cpu_now() { timespec t; clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t); return t.tv_sec + 1e-9 * t.tv_nsec; }
// best CPU microseconds per call over many short chunks
template <class F> double best(F f, int n, int reps = 600) { double b = 1e9; f();
  for (int r = 0; r < reps; r++) { double t = cpu_now(); for (int i = 0; i < n; i++) f(); b = std::min(b, (cpu_now() - t) / n); } return b * 1e6; }
