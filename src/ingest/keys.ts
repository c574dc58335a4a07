import { AppError } from "../domain/error.ts"
import type { Site } from "../domain/site.ts"
import type { createCalendar } from "./calendar.ts"
import { personKind, type VisitorKeys } from "./identity.ts"
import type { Incoming } from "./payloads/incoming.ts"
import type { IdentityKeys, Salts } from "./salts.ts"

interface KeySources {
  salts: Salts
  identityKeys: IdentityKeys
  calendar: ReturnType<typeof createCalendar>
  /** Told why secrets could not be read. */
  onError?(error: unknown): void
}

/** The secrets the ids of an event are made with. Waits only for those not yet in memory: the first event of a period. */
export function visitorKeys(
  { salts, identityKeys, calendar, onError }: KeySources,
  event: { site: Site; incoming: Incoming; objects: boolean; at: number; now: number },
): VisitorKeys | Promise<VisitorKeys> {
  const { site, at, now } = event
  const { current, previous } = calendar.periods(site, at, now)
  const salt = salts.get(site.id, current)
  const previousSalt = previous && salts.get(site.id, previous)
  const identity = personKind(site, event.incoming, event.objects) && identityKeys.identityKey(site.id)
  const isReady = !(salt instanceof Promise) && !(previousSalt instanceof Promise) && !(identity instanceof Promise)
  const names = { current: current.name, previous: previous?.name }
  if (isReady) return keysFrom(names, salt, previousSalt, identity)
  return waitFor(names, salt, previousSalt, identity).catch((error) => {
    onError?.(error)
    // The event may come again: without its salt it would be another visitor's.
    throw new AppError("unavailable", "Events cannot be stored for now.", { retry_after: 1 })
  })
}

type Names = { current: string; previous: string | undefined }
type Wait<Value> = Value | Promise<Value>
type Key = Uint8Array | undefined

async function waitFor(names: Names, salt: Wait<Uint8Array>, previous: Wait<Key>, identity: Wait<Key>): Promise<VisitorKeys> {
  const [one, two, three] = await Promise.all([salt, previous, identity])
  return keysFrom(names, one, two, three)
}

function keysFrom(names: Names, salt: Uint8Array, previous: Key, identity: Key): VisitorKeys {
  return {
    current: { period: names.current, salt },
    previous: previous && names.previous !== undefined ? { period: names.previous, salt: previous } : undefined,
    identity,
  }
}
