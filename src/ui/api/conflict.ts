import { Problem } from "./api.ts"

/** What the server has now, when it refused a change of an older version; undefined of any other failure. */
export function currentOf<Shown>(error: unknown): Shown | undefined {
  const isStale = error instanceof Problem && (error.status === 409 || error.status === 412)
  return isStale ? (error.members.current as Shown | undefined) : undefined
}
