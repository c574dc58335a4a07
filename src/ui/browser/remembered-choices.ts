import { useMemo } from "preact/hooks"
import type { SiteAddress } from "../domain/site-address.ts"
import { useSiteAddress } from "./address.ts"

/** What is chosen on a page beside period and filters, by name. It stands in the `cards` of the address, so that it can be shared and goes back and forth. */
export interface PageChoices {
  of(name: string): string | undefined
  /** The address parts with these choices; undefined takes one back. */
  changed(changes: Readonly<Record<string, string | undefined>>): Pick<SiteAddress, "cards">
  choose(changes: Readonly<Record<string, string | undefined>>, options?: { replace?: boolean }): void
}

/** Values may hold any text: what would end a part of the address is escaped. */
export function usePageChoices(): PageChoices {
  const { address, go } = useSiteAddress()
  return useMemo(() => {
    const changed: PageChoices["changed"] = (changes) => {
      const kept = Object.entries(address.cards).filter(([name]) => !(name in changes))
      const added = Object.entries(changes).flatMap(([name, value]) =>
        value === undefined ? [] : [[name, encodeURIComponent(value)] as const],
      )
      return { cards: Object.fromEntries([...kept, ...added]) }
    }
    return {
      of: (name) => plain(address.cards[name]),
      changed,
      choose: (changes, options) => go(changed(changes), options),
    }
  }, [address, go])
}

function plain(text: string | undefined): string | undefined {
  try {
    return text === undefined ? undefined : decodeURIComponent(text)
  } catch {
    return undefined
  }
}
