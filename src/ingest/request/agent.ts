import Bowser from "bowser"
import { isbot } from "isbot"
import { COLLECT } from "../../domain/limits.ts"
import { remembered } from "../remembered.ts"
import { cutCharacters } from "./text.ts"

/** Names of the user-agent library that Footfall writes differently (metrics.md section 6). */
export const OS_NAMES: Readonly<Record<string, string>> = { macOS: "Mac" }
export const BROWSER_NAMES: Readonly<Record<string, string>> = { "Samsung Internet for Android": "Samsung Internet" }

/** What a user agent says; "" is missing. */
export interface Agent {
  isBot: boolean
  browser: string
  browser_version: string
  os: string
  os_version: string
  device: string
}

/** Of a server's event that names no user agent: nothing is known of it, and it is no bot. */
export const NO_AGENT: Agent = { isBot: false, browser: "", browser_version: "", os: "", os_version: "", device: "" }

const DEVICES: Record<string, string> = { desktop: "Desktop", mobile: "Mobile", tablet: "Tablet" }
/** Where the library knows no name it gives a piece of the user agent itself, which may be anything and is never stored. */
const BROWSERS: ReadonlySet<string> = new Set([...Object.values(Bowser.BROWSER_MAP), "Opera Touch", "Miui", "PlayStation 4"])
const SYSTEMS: ReadonlySet<string> = new Set(Object.values(Bowser.OS_MAP))
const VERSION = /^\d{1,9}(?:[._]\d{1,9})?/
const SHORTEST = 10
const LETTER = /\p{L}/u

/** As much of a user agent as is ever looked at. */
export const cutAgent = (userAgent: string): string => cutCharacters(userAgent, COLLECT.userAgentChars)

/** Real traffic repeats a few thousand user agents, so nearly every call is a look-up. */
export const agentOf = remembered(5_000, (userAgent: string): Agent => {
  const { browser, os, platform } = Bowser.parse(userAgent || "-")
  const program = BROWSERS.has(browser.name ?? "") ? browser.name! : ""
  const system = SYSTEMS.has(os.name ?? "") ? os.name! : ""
  return {
    isBot: isNoBrowser(userAgent) || isbot(userAgent),
    browser: BROWSER_NAMES[program] ?? program,
    browser_version: program === "" ? "" : majorMinor(browser.version),
    os: OS_NAMES[system] ?? system,
    // Windows 10 is "NT 10.0" by version and "10" by name.
    os_version: system === "Windows" ? (os.versionName ?? "") : majorMinor(os.version),
    device: DEVICES[platform.type ?? ""] ?? (system === "Chrome OS" ? "Desktop" : "Other"),
  }
})

/** Link previews that the library does not know. Viber's own browser has its name too, but behind that of a browser. */
const PREVIEWS = /^Viber\b|ViberUrlDownloader/i

const isNoBrowser = (userAgent: string): boolean => userAgent.length < SHORTEST || !LETTER.test(userAgent) || PREVIEWS.test(userAgent)

const majorMinor = (version = ""): string => VERSION.exec(version)?.[0].replace("_", ".") ?? ""
