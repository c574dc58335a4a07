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

/**
 * The versions that a header `If-Match` names; undefined without one and for `*`, which only asks that the thing exists. A weak
 * tag, and what is no tag of ours, fits no version.
 */
export function versionsIn(ifMatch: string | null): Expected {
  const given = ifMatch?.trim()
  if (given === undefined || given === "*") return undefined
  return given.split(",").flatMap((tag) => {
    // Behind the dot a site's tag says more than its version.
    const version = /^"([1-9]\d{0,14})(\.[0-9a-z]+)?"$/.exec(tag.trim())?.[1]
    return version === undefined ? [] : [Number(version)]
  })
}

/** The strong entity tag of a thing's present version. */
export const etagOf = ({ version }: Versioned): string => `"${version}"`

/** Throws `precondition_failed` for a thing that somebody has changed since. */
export function refuseOtherVersion(thing: Versioned, expected: Expected): void {
  if (expected && !expected.includes(thing.version))
    throw new AppError("precondition_failed", "Somebody has changed it since it was read.", { etag: etagOf(thing) })
}
