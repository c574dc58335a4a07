import type { Dimension } from "../../../domain/dimension.ts"
import type { AddressFilter } from "../../../domain/site-address.ts"
import { isFilteredBy, toggledFilter } from "../../browser/address.ts"
import { webAddress } from "../../text/safe-text.tsx"

/** A breakdown that a card offers. */
export interface CardTab {
  /** Name of the tab in the URL. */
  id: string
  label: string
  dimension: Dimension
  property?: string
  /** A filter that always applies in addition to those of the page. */
  also?: AddressFilter
  /** Id of the tab that this one replaces on demand. Such a tab is not listed itself. */
  under?: string
}

const NOT_FOUND: AddressFilter = { dimension: "event", operator: "is", values: ["404"] }

export const SOURCE_TABS: readonly CardTab[] = [
  { id: "source", label: "Source", dimension: "source" },
  { id: "channel", label: "Channel", dimension: "channel" },
  { id: "referrer", label: "Referrer", dimension: "referrer" },
  { id: "campaign", label: "Campaign", dimension: "utm_campaign" },
  { id: "campaign-source", label: "Campaign source", dimension: "utm_source" },
  { id: "medium", label: "Medium", dimension: "utm_medium" },
  { id: "term", label: "Term", dimension: "utm_term" },
  { id: "content", label: "Content", dimension: "utm_content" },
]

export const PAGE_TABS: readonly CardTab[] = [
  { id: "top", label: "Top pages", dimension: "page" },
  { id: "entry", label: "Entry pages", dimension: "entry_page" },
  { id: "exit", label: "Exit pages", dimension: "exit_page" },
  { id: "404", label: "Not found", dimension: "property", property: "path", also: NOT_FOUND },
  { id: "hostname", label: "Hostname", dimension: "hostname" },
]

export const PLACE_TABS: readonly CardTab[] = [
  { id: "country", label: "Country", dimension: "country" },
  { id: "map", label: "Map", dimension: "country" },
  { id: "region", label: "Region", dimension: "region" },
  { id: "city", label: "City", dimension: "city" },
  { id: "language", label: "Language", dimension: "language" },
]

export const DEVICE_TABS: readonly CardTab[] = [
  { id: "browser", label: "Browser", dimension: "browser" },
  { id: "browser-version", label: "Browser versions", dimension: "browser_version", under: "browser" },
  { id: "system", label: "System", dimension: "os" },
  { id: "system-version", label: "System versions", dimension: "os_version", under: "system" },
  { id: "device", label: "Device", dimension: "device" },
  { id: "size", label: "Size", dimension: "size" },
]

export const ACT_TABS: readonly CardTab[] = [
  { id: "goals", label: "Goals", dimension: "goal" },
  { id: "events", label: "Events", dimension: "event" },
]

/** The cards of the dashboard by their names in the URL. */
export const CARDS: Readonly<Record<string, readonly CardTab[]>> = {
  sources: SOURCE_TABS,
  pages: PAGE_TABS,
  locations: PLACE_TABS,
  devices: DEVICE_TABS,
  acts: ACT_TABS,
}

/** Returns the entries of the URL's `cards` that do not exist. */
export const unknownCards = (cards: Readonly<Record<string, string>>): string[] =>
  Object.entries(cards).flatMap(([card, tab]) =>
    Object.hasOwn(CARDS, card) && CARDS[card]!.some(({ id }) => id === tab) ? [] : [`cards ${card}:${tab}`],
  )

/** Returns the name of a tab's details page. */
export const detailsName = ({ id, dimension, property }: CardTab): string =>
  id === "404" ? "404" : encodeURIComponent(property === undefined ? dimension : `${dimension}:${property}`)

type Split = Pick<CardTab, "dimension" | "property" | "also">

const keyOf = ({ dimension, property }: Split) => ({ dimension, ...(property !== undefined && { property }) })

export const isRowChosen = (filters: readonly AddressFilter[], { dimension, property }: Split, value: string): boolean =>
  isFilteredBy(filters, dimension, value, property)

/** Returns the filters after a click on a row. Adds its value and the filter of the tab, or removes both if the row was selected. */
export function filtersAfter(filters: readonly AddressFilter[], tab: Split, value: string): AddressFilter[] {
  const { also } = tab
  const toggled = toggledFilter(filters, keyOf(tab), value)
  if (!also) return toggled
  const others = toggled.filter((filter) => JSON.stringify(filter) !== JSON.stringify(also))
  return isRowChosen(toggled, tab, value) ? [...others, also] : others
}

export const filtersWithout = (filters: readonly AddressFilter[], tab: Split, value: string): AddressFilter[] =>
  toggledFilter(filters, { ...keyOf(tab), operator: "is_not" }, value)

const PAGES = ["page", "entry_page", "exit_page"]

/** Returns the URL of the page that a row stands for: the referrer, or a page of the site on the given host. Undefined if there is no such page. */
export function pageAddress({ dimension, id }: CardTab, value: string, host: string | undefined): string | undefined {
  if (value === "Direct" || value.startsWith("(")) return undefined
  if (dimension === "referrer") return webAddress(value) ?? webAddress(`https://${value}`)
  const isPage = PAGES.includes(dimension) || id === "404"
  return isPage && host && !host.includes("*") && value.startsWith("/") ? webAddress(`https://${host}${value}`) : undefined
}

/** Opens a page in a new tab without opener and referrer. */
export const openPage = (address: string): void => void open(address, "_blank", "noopener,noreferrer")
