import { webAddress } from "../../safe-text.ts"
import type { CardTab } from "./card-tabs.ts"

const PAGES = ["page", "entry_page", "exit_page"]

/** The web page that a row names: a referrer's own, or one of the site on this host. Undefined where it names none. */
export function pageAddress({ dimension, id }: CardTab, value: string, host: string | undefined): string | undefined {
  if (value === "Direct" || value.startsWith("(")) return undefined
  if (dimension === "referrer") return webAddress(value) ?? webAddress(`https://${value}`)
  const isPage = PAGES.includes(dimension) || id === "404"
  return isPage && host && !host.includes("*") && value.startsWith("/") ? webAddress(`https://${host}${value}`) : undefined
}

/** In a new tab that knows nothing of this one. */
export const openPage = (address: string): void => void open(address, "_blank", "noopener,noreferrer")
