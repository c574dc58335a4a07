import { Resolver } from "node:dns/promises"
import type { ResolveTxt } from "./mail-domains.ts"

/** The one place that asks the DNS for texts; only when somebody proves a domain. */
export const resolveTxt: ResolveTxt = async (domain) => {
  const resolver = new Resolver({ timeout: 3_000, tries: 2 })
  // A record of more than 255 bytes comes in pieces. The dot at the end keeps local search lists out of it.
  return (await resolver.resolveTxt(`${domain}.`)).map((pieces) => pieces.join(""))
}
