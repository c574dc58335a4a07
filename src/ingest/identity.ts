import type { Site } from "../domain/site.ts"
import type { Hash64 } from "../store/events/writer.ts"
import type { Incoming } from "./payloads/incoming.ts"

/** A rotating id and the period whose salt made it. */
export interface RotatingId {
  period: string
  id: Hash64
}

/** How a visitor can be found again. No address and no user agent can be read from it. */
export interface Identity {
  current: RotatingId
  /** By the salt of the period before: keeps a visitor over midnight. */
  previous: RotatingId | undefined
  person: Person | undefined
}

export interface Person {
  key: Hash64
  kind: "user" | "device"
  /** Counts only in a visit whose visitor agreed to be known. */
  needsConsent: boolean
}

/** The secrets an event's ids are made with. */
export interface VisitorKeys {
  current: { period: string; salt: Uint8Array }
  previous: { period: string; salt: Uint8Array } | undefined
  /** Only where the event names a person and the site's mode allows it. */
  identity: Uint8Array | undefined
}

/**
 * By which id a site may know the sender of an event beyond its rotating one (metrics.md 2.3). A person who objects is
 * known by none.
 */
export function personKind(site: Site, { userId, deviceId }: Incoming, objects: boolean): "user" | "device" | undefined {
  const mode = site.settings.identity_mode
  if (objects || (mode !== "identified" && mode !== "persistent")) return undefined
  if (userId !== "") return "user"
  return mode === "persistent" && deviceId !== "" ? "device" : undefined
}
