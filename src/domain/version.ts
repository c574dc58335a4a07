import { AppError } from "./error.ts"

/** A thing that counts its changes, from 1. */
export interface Versioned {
  version: number
}

/** Versions that the caller of a change or a deletion still takes it to have (`If-Match`); undefined: any. */
export type Expected = readonly number[] | undefined

/** The strong entity tag of a thing's present version. */
export const etagOf = ({ version }: Versioned): string => `"${version}"`

/** Throws `precondition_failed` for a thing that somebody has changed since. */
export function refuseOtherVersion(thing: Versioned, expected: Expected): void {
  if (expected && !expected.includes(thing.version))
    throw new AppError("precondition_failed", "Somebody has changed it since it was read.", { etag: etagOf(thing) })
}
