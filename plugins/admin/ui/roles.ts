/** Roles in an organization, the highest first. */
export const ROLES = ["owner", "admin", "editor", "viewer", "guest"] as const
