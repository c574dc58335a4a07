import { isOwnPath } from "../../../domain/own-path.ts"

/** Where to go after signing in: the `next` of the address when it is a page of ours, else the start page. */
export function nextPage(search: string): string {
  const next = new URLSearchParams(search).get("next")
  return next !== null && isOwnPath(next) ? next : "/"
}

/** The same page of ours for another step of signing in. */
export const withNext = (path: string, search: string): string => {
  const next = nextPage(search)
  return next === "/" ? path : `${path}?next=${encodeURIComponent(next)}`
}
