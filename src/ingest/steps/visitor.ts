import { addCounter, type Draft } from "../draft.ts"
import { type Person, personKind } from "../identity.ts"
import { personKey, rotatingIds } from "../visitor.ts"

/** Turns address and user agent into ids. Here the address leaves the draft for good. */
export function setVisitor(draft: Draft): void {
  const { site, address, request, keys, incoming } = draft
  const { current, previous } = keys
  const salts = previous ? [current.salt, previous.salt] : [current.salt]
  const [id, idBefore] = rotatingIds(salts, { siteId: site.id, address: address?.bytes, userAgent: request.userAgent })
  const person = personOf(draft)
  draft.address = undefined
  draft.identity = {
    current: { period: current.period, id: id! },
    previous: previous && { period: previous.period, id: idBefore! },
    person,
  }
  if (incoming.userId !== "" && person?.kind !== "user") addCounter(draft, "identify_ignored")
}

function personOf({ site, incoming, request, keys }: Draft): Person | undefined {
  const kind = personKind(site, incoming, request.objects)
  if (!kind || !keys.identity) return undefined
  const { identity_mode, consent_default } = site.settings
  const asksFirst = identity_mode === "persistent" && consent_default === "denied"
  const needsConsent = kind === "user" && asksFirst && incoming.deviceId === ""
  return { key: personKey(keys.identity, kind, kind === "user" ? incoming.userId : incoming.deviceId), kind, needsConsent }
}
