import { isClean } from "./text.ts"

/** A path that leads nowhere but into this instance: browsers take `//host` and `/\host` for other places. */
export const isOwnPath = (path: string): boolean =>
  /^\/(?![/\\])/.test(path) &&
  URL.parse(path, "http://here.invalid")?.origin === "http://here.invalid" &&
  isClean(path) &&
  !path.includes(" ")
