import { isOwnPath } from "../../../domain/own-path.ts"

/** Returns the page to open after sign-in: the `next` parameter if it is a path of this instance, else the start page. */
export function nextPage(search: string): string {
  const next = new URLSearchParams(search).get("next")
  return next !== null && isOwnPath(next) ? next : "/"
}

/** Appends the `next` parameter to the path of another sign-in step. */
export const withNext = (path: string, search: string): string => {
  const next = nextPage(search)
  return next === "/" ? path : `${path}?next=${encodeURIComponent(next)}`
}
