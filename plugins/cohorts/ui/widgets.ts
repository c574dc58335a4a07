/** Panels of the area's widgets on dashboards. */
export default {
  retention: () => import("./retention-panel.tsx"),
  power_users: () => import("./active-days-panel.tsx"),
}
