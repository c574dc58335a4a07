import { webAddress } from "../../text/safe-text.tsx"
import type { CardTab } from "./card-tabs.ts"

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
