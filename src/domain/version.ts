import { AppError } from "./error.ts"

/** A thing that counts its changes, from 1. */
export interface Versioned {
  version: number
}

/** Versions that the caller of a change or a deletion still takes it to have (`If-Match`); undefined: any. */
export type Expected = readonly number[] | undefined

/**
 * Throws `version_conflict` when a body names another version than the present one (areas/00 section 8); undefined names none.
 * `current` tells the caller the thing as it is now, so it is made as answers show it.
 */
export function refuseStaleBody<Thing extends Versioned>(thing: Thing, named: number | undefined, current: (thing: Thing) => object): void {
  if (named !== undefined && named !== thing.version)
    throw new AppError("version_conflict", "Somebody has changed it since it was read.", { current: current(thing) })
}

/** The strong entity tag of a thing's present version. */
export const etagOf = ({ version }: Versioned): string => `"${version}"`

/** Throws `precondition_failed` for a thing that somebody has changed since. */
export function refuseOtherVersion(thing: Versioned, expected: Expected): void {
  if (expected && !expected.includes(thing.version))
    throw new AppError("precondition_failed", "Somebody has changed it since it was read.", { etag: etagOf(thing) })
}
