import type { Expected } from "../../domain/version.ts"

/**
 * The versions that `If-Match` names; undefined without the header and for `*`, which only asks that the thing exists. A weak
 * tag, and what is no tag of ours, fits no version.
 */
export function expectedVersions(request: Request): Expected {
  const given = request.headers.get("if-match")?.trim()
  if (given === undefined || given === "*") return undefined
  return given.split(",").flatMap((tag) => {
    // Behind the dot a site's tag says more than its version.
    const version = /^"([1-9]\d{0,14})(\.[0-9a-z]+)?"$/.exec(tag.trim())?.[1]
    return version === undefined ? [] : [Number(version)]
  })
}
