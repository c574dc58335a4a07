import { useMemo } from "preact/hooks"
import type { SiteAddress } from "../../domain/site-address.ts"
import { useSiteAddress } from "./address.ts"

/** Choices on a page other than period and filters, by name. They are stored in the URL's `cards`, so that they can be shared and navigated. */
export interface PageChoices {
  of(name: string): string | undefined
  /** Returns the URL part with these choices; undefined removes one. */
  changed(changes: Readonly<Record<string, string | undefined>>): Pick<SiteAddress, "cards">
  choose(changes: Readonly<Record<string, string | undefined>>, options?: { replace?: boolean }): void
}

/** Returns the page's choices. Values can be any text and are percent-encoded. */
export function usePageChoices(): PageChoices {
  const { address, go } = useSiteAddress()
  return useMemo(() => {
    const changed: PageChoices["changed"] = (changes) => {
      const others = Object.entries(address.cards).filter(([name]) => !(name in changes))
      const added = Object.entries(changes).flatMap(([name, value]) =>
        value === undefined ? [] : [[name, encodeURIComponent(value)] as const],
      )
      return { cards: Object.fromEntries([...others, ...added]) }
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
