import { Problem } from "./api.ts"

/** Returns the server's current version from a version conflict (409 or 412); undefined for any other error. */
export function currentOf<Shown>(error: unknown): Shown | undefined {
  const isStale = error instanceof Problem && (error.status === 409 || error.status === 412)
  return isStale ? (error.members.current as Shown | undefined) : undefined
}
