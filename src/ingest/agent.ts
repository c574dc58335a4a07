import Bowser from "bowser"
import { isbot } from "isbot"
import { COLLECT } from "../domain/limits.ts"
import { BROWSER_NAMES, OS_NAMES } from "./data/agent-names.ts"
import { remembered } from "./remembered.ts"
import { cutCharacters, visible } from "./text.ts"

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
const SHORTEST = 10
const LETTER = /\p{L}/u

/** As much of a user agent as is ever looked at. */
export const cutAgent = (userAgent: string): string => cutCharacters(userAgent, COLLECT.userAgentChars)

/** Real traffic repeats a few thousand user agents, so nearly every call is a look-up. */
export const agentOf = remembered(5_000, (userAgent: string): Agent => {
  const { browser, os, platform } = Bowser.parse(userAgent || "-")
  const system = os.name ?? ""
  return {
    isBot: isNoBrowser(userAgent) || isbot(userAgent),
    browser: visible(BROWSER_NAMES[browser.name ?? ""] ?? browser.name ?? ""),
    browser_version: majorMinor(browser.version),
    os: visible(OS_NAMES[system] ?? system),
    // Windows 10 is "NT 10.0" by version and "10" by name.
    os_version: majorMinor(system === "Windows" ? os.versionName : os.version),
    device: DEVICES[platform.type ?? ""] ?? (system === "Chrome OS" ? "Desktop" : "Other"),
  }
})

const isNoBrowser = (userAgent: string): boolean => userAgent.length < SHORTEST || !LETTER.test(userAgent)

const majorMinor = (version = ""): string => visible(version.split(".").slice(0, 2).join("."))
