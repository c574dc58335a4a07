import { useEffect, useMemo, useRef, useState } from "preact/hooks"
import type { SiteAddress } from "../../domain/site-address.ts"
import { useSiteAddress } from "./address.ts"

/** Returns a value once it has not changed for `ms` milliseconds; the first value at once. Avoids a query per key press. */
export function useDebouncedValue<Value>(value: Value, ms: number): Value {
  const [debounced, setDebounced] = useState(() => value)
  useEffect(() => {
    const timer = setTimeout(() => setDebounced(() => value), ms)
    return () => clearTimeout(timer)
  }, [value, ms])
  return debounced
}

/** Returns whether a media query matches, now and after each change. */
export function useMedia(query: string): boolean {
  const [matches, setMatches] = useState(() => matchMedia(query).matches)
  useEffect(() => {
    const media = matchMedia(query)
    const update = () => setMatches(media.matches)
    media.addEventListener("change", update)
    return () => media.removeEventListener("change", update)
  }, [query])
  return matches
}

/** Returns a ref and whether its element has ever been visible, so that costly data is fetched only then. */
export function useInView<Shown extends Element>() {
  const place = useRef<Shown>(null)
  const [seen, setSeen] = useState(false)
  useEffect(() => {
    const watch = new IntersectionObserver((entries) => entries.some(({ isIntersecting }) => isIntersecting) && setSeen(true))
    watch.observe(place.current!)
    return () => watch.disconnect()
  }, [])
  return { place, seen }
}

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
