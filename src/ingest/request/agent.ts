import Bowser from "bowser"
import { isbot } from "isbot"
import { COLLECT } from "../../domain/limits.ts"
import { memoize } from "../memoize.ts"
import { cutCharacters } from "./text.ts"

/** Names of the user-agent library that Footfall writes differently (metrics.md section 6). */
export const OS_NAMES: Readonly<Record<string, string>> = { macOS: "Mac" }
export const BROWSER_NAMES: Readonly<Record<string, string>> = { "Samsung Internet for Android": "Samsung Internet" }

/** The parts of a user agent. "" is missing. */
export interface Agent {
  isBot: boolean
  browser: string
  browser_version: string
  os: string
  os_version: string
  device: string
}

/** The agent of a server event without a user agent, which is not a bot. */
export const NO_AGENT: Agent = { isBot: false, browser: "", browser_version: "", os: "", os_version: "", device: "" }

const DEVICES: Record<string, string> = { desktop: "Desktop", mobile: "Mobile", tablet: "Tablet" }
/** The browser names that are stored. For an unknown browser the library returns a piece of the user agent, which can be any text. */
const BROWSERS: ReadonlySet<string> = new Set([...Object.values(Bowser.BROWSER_MAP), "Opera Touch", "Miui", "PlayStation 4"])
const SYSTEMS: ReadonlySet<string> = new Set(Object.values(Bowser.OS_MAP))
const VERSION = /^\d{1,9}(?:[._]\d{1,9})?/
const MIN_LENGTH = 10
const LETTER = /\p{L}/u

/** Cuts a user agent to the length that is read. */
export const cutAgent = (userAgent: string): string => cutCharacters(userAgent, COLLECT.userAgentChars)

/** Parses a user agent. Real traffic repeats a few thousand of them, so nearly every call is a look-up. */
export const agentOf = memoize(5_000, (userAgent: string): Agent => {
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

/** Link previews that the library does not recognize. The user agent of Viber's browser also contains its name, but not at the start. */
const PREVIEWS = /^Viber\b|ViberUrlDownloader/i

const isNoBrowser = (userAgent: string): boolean => userAgent.length < MIN_LENGTH || !LETTER.test(userAgent) || PREVIEWS.test(userAgent)

const majorMinor = (version = ""): string => VERSION.exec(version)?.[0].replace("_", ".") ?? ""
