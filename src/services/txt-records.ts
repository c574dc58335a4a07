import type { ResolveTxt } from "./mail-domains.ts"

/** The one place that asks the DNS for texts, only when somebody proves a domain. `servers`: others than those of the system. */
export function txtResolver(servers?: readonly string[]): ResolveTxt {
  return async (domain) => {
    // Only now: it brings much with it that no start needs.
    const { Resolver } = await import("node:dns/promises")
    const resolver = new Resolver({ timeout: 3_000, tries: 2 })
    if (servers) resolver.setServers(servers)
    // A text of more than 255 bytes comes in pieces, and Bun takes each for a text of its own; ours fits into one. The dot at the
    // end keeps local search lists out of it.
    return (await resolver.resolveTxt(`${domain}.`)).flat()
  }
}
