import { AppError } from "../../domain/error.ts"
import { hasLongKeys } from "../../domain/identity.ts"
import type { Site } from "../../domain/site.ts"
import type { Hash64 } from "../../store/events/writer.ts"
import type { Incoming } from "../payloads/incoming.ts"
import type { createCalendar, IdentityKeys, Period, Salts } from "./salt-period.ts"

/** A rotating id with the name of the period of its salt. */
export interface RotatingId {
  period: string
  id: Hash64
}

/** The ids by which a visitor is recognized. Neither address nor user agent can be derived from them. */
export interface Identity {
  current: RotatingId
  /** By the salt of the previous period, so that a visit can continue over midnight. */
  previous: RotatingId | undefined
  person: Person | undefined
}

/** A visitor by a user id or a stored device id, which outlive rotating ids. */
export interface Person {
  key: Hash64
  kind: "user" | "device"
  /** User id to store; "" unless the site stores user ids. */
  userId: string
  /** How long the id is valid after it was first used, in ms. */
  lifeMs: number
  /** Whether the visitor is identified only in a visit with consent. */
  needsConsent: boolean
}

/** The secrets that the ids of an event are computed with. */
export interface VisitorKeys {
  current: { period: string; salt: Uint8Array }
  previous: { period: string; salt: Uint8Array } | undefined
  /** Present only when the event identifies a person and the mode of the site allows it. */
  identity: Uint8Array | undefined
}

/**
 * Returns the kind of id by which a site may identify the sender of an event, apart from the rotating id (metrics.md 2.3). Undefined
 * when there is none, or when the visitor objects to tracking.
 */
export function personKind(site: Site, { userId, deviceId }: SentIds, objects: boolean): "user" | "device" | undefined {
  const mode = site.settings.identity_mode
  if (objects || !hasLongKeys(mode)) return undefined
  if (userId !== "") return "user"
  return mode === "persistent" && deviceId !== "" ? "device" : undefined
}

/** The ids that a client sent for the visitor. "" is missing. */
type SentIds = Pick<Incoming, "userId" | "deviceId">

interface KeySources {
  salts: Salts
  identityKeys: IdentityKeys
  calendar: ReturnType<typeof createCalendar>
  /** Called when the secrets could not be read. */
  onError?(error: unknown): void
}

/**
 * Returns the secrets that the ids of an event are computed with. `previous` is absent once the salt of that period is destroyed.
 * Asynchronous only for the first event of a period, whose secrets are not in memory yet.
 */
export function visitorKeys(
  { salts, identityKeys, calendar, onError }: KeySources,
  event: { site: Site; incoming: SentIds; objects: boolean; at: number; now: number },
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
    // The client can send the event again. Without the right salt it would count as another visitor.
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
