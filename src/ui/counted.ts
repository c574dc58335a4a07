import { exact } from "./format.ts"

/** A whole number of things: `1 visit`, `1,204 visits`. */
export const counted = (count: number, thing: string): string => `${exact(count)} ${thing}${count === 1 ? "" : "s"}`
