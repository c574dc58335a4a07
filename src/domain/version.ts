import { AppError, refuseFaults } from "./error.ts"
import { fault, isObject } from "./shape.ts"

/** A record with a version number, which starts at 1 and increases with each change. */
export interface Versioned {
  version: number
}

/** The versions that a change or deletion accepts (`If-Match`). Undefined means any version. */
export type Expected = readonly number[] | undefined

/**
 * Throws `version_conflict` when a body names a version other than the current one (areas/00 section 8). Undefined means any
 * version. `current` formats the record for the error response, which contains its current state.
 */
export function refuseStaleBody<Thing extends Versioned>(thing: Thing, named: number | undefined, current: (thing: Thing) => object): void {
  if (named !== undefined && named !== thing.version)
    throw new AppError("version_conflict", "Someone else changed this since you loaded it. Reload it and try again.", {
      current: current(thing),
    })
}

/**
 * Returns the versions in an `If-Match` header; undefined without a header and for `*`, which only requires that the record
 * exists. Weak tags and tags of another format match no version.
 */
export function versionsIn(ifMatch: string | null): Expected {
  const given = ifMatch?.trim()
  if (given === undefined || given === "*") return undefined
  return given.split(",").flatMap((tag) => {
    // The tag of a site contains more than its version after a dot.
    const version = /^"([1-9]\d{0,14})(\.[0-9a-z]+)?"$/.exec(tag.trim())?.[1]
    return version === undefined ? [] : [Number(version)]
  })
}

/** Returns the strong entity tag of the current version. */
export const etagOf = ({ version }: Versioned): string => `"${version}"`

/** Throws `precondition_failed` when the current version is not one of those expected. */
export function refuseOtherVersion(thing: Versioned, expected: Expected): void {
  if (expected && !expected.includes(thing.version))
    throw new AppError("precondition_failed", "Someone else changed this since you loaded it. Reload it and try again.", {
      etag: etagOf(thing),
    })
}

/** Splits a body into the version that it expects and the other fields. Throws `validation_failed` for a version that is not a number. */
export function bodyVersion(body: unknown): { version: number | undefined; patch: unknown } {
  if (!isObject(body) || !Object.hasOwn(body, "version")) return { version: undefined, patch: body }
  const { version, ...patch } = body
  if (!Number.isSafeInteger(version)) refuseFaults([fault("/version", "invalid_type", "must be a whole number")])
  return { version: version as number, patch } // checked above
}
