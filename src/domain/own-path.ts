import { isClean } from "./text.ts"

/** Returns whether a path stays on this instance: browsers resolve `//host` and `/\host` to other hosts. */
export const isOwnPath = (path: string): boolean =>
  /^\/(?![/\\])/.test(path) &&
  URL.parse(path, "http://here.invalid")?.origin === "http://here.invalid" &&
  isClean(path) &&
  !path.includes(" ")

/** The paths of pages that need no account. Shared views are not among them, because they use the dashboard's script. */
const GUEST_PATH = /^\/(setup|signin|forgot|reset|confirm-email|undo-email|invite)(\/|$)/

/** Returns whether a page needs no account. The server and the browser choose the script of a page by this. */
export const isGuestPath = (path: string): boolean => GUEST_PATH.test(path)
