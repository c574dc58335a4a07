import { AppError } from "../../domain/error.ts"
import type { Site } from "../../domain/site.ts"
import type { Hash64 } from "../../store/events/writer.ts"
import type { Incoming } from "../payloads/incoming.ts"
import type { createCalendar, IdentityKeys, Period, Salts } from "./salt-period.ts"

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

interface KeySources {
  salts: Salts
  identityKeys: IdentityKeys
  calendar: ReturnType<typeof createCalendar>
  /** Told why secrets could not be read. */
  onError?(error: unknown): void
}

/**
 * Returns the secrets that the ids of an event are made with; none of the period before once its salt is destroyed. Waits
 * only for secrets that are not in memory yet: those of the first event of a period.
 */
export function visitorKeys(
  { salts, identityKeys, calendar, onError }: KeySources,
  event: { site: Site; incoming: Incoming; objects: boolean; at: number; now: number },
): VisitorKeys | Promise<VisitorKeys> {
  const { site, at, now } = event
  const { current, previous } = calendar.periods(site, at)
  const salt = salts.get(site.id, current)
  const previousSalt = isDestroyed(previous, now) ? undefined : salts.get(site.id, previous)
  const identity = personKind(site, event.incoming, event.objects) && identityKeys.identityKey(site.id)
  const isReady = !(salt instanceof Promise) && !(previousSalt instanceof Promise) && !(identity instanceof Promise)
  const names = { current: current.name, previous: previous.name }
  if (isReady) return keysFrom(names, salt, previousSalt, identity)
  return waitFor(names, salt, previousSalt, identity).catch((error) => {
    onError?.(error)
    // The event may come again: without its salt it would be another visitor's.
    throw new AppError("unavailable", "Events cannot be stored for now.", { retry_after: 1 })
  })
}

/** Returns whether the salt of a period no longer exists. */
export const isDestroyed = ({ expiresAt }: Period, now: number): boolean => expiresAt <= now

type Names = { current: string; previous: string }
type Wait<Value> = Value | Promise<Value>
type Key = Uint8Array | undefined

async function waitFor(names: Names, salt: Wait<Uint8Array>, previous: Wait<Key>, identity: Wait<Key>): Promise<VisitorKeys> {
  const [one, two, three] = await Promise.all([salt, previous, identity])
  return keysFrom(names, one, two, three)
}

function keysFrom(names: Names, salt: Uint8Array, previous: Key, identity: Key): VisitorKeys {
  return {
    current: { period: names.current, salt },
    previous: previous && { period: names.previous, salt: previous },
    identity,
  }
}
