/** Limits of dashboards that the screens know. A test compares them with those of the server. */
export const LIMITS = {
  columns: 12,
  maxY: 500,
  maxHeight: 12,
  widgets: 30,
  nameChars: 100,
  titleChars: 100,
  descriptionChars: 500,
} as const
