/** Panels of the area's widgets on dashboards, loaded together. */
export default {
  retention: async () => ({ default: (await import("./panels.tsx")).RetentionPanel }),
  power_users: async () => ({ default: (await import("./panels.tsx")).ActiveDaysPanel }),
}
