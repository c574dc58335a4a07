import type { Draft } from "../draft.ts"
import { type Person, personKind, type VisitorKeys } from "../identity.ts"
import { personKey, rotatingId } from "../visitor.ts"

/** Turns address and user agent into ids. Here the address leaves the draft for good. */
export function setVisitor(draft: Draft): Draft {
  const idBy = ({ period, salt }: VisitorKeys["current"]) => ({
    period,
    id: rotatingId(salt, draft.site.id, draft.address?.bytes, draft.request.userAgent),
  })
  const { current, previous } = draft.keys
  const person = personOf(draft)
  const isIgnored = draft.incoming.userId !== "" && person?.kind !== "user"
  return {
    ...draft,
    address: undefined,
    identity: { current: idBy(current), previous: previous && idBy(previous), person },
    counters: isIgnored ? [...draft.counters, "identify_ignored"] : draft.counters,
  }
}

function personOf({ site, incoming, request, keys }: Draft): Person | undefined {
  const kind = personKind(site, incoming, request.objects)
  if (!kind || !keys.identity) return undefined
  const needsConsent = kind === "user" && site.settings.identity_mode === "persistent" && incoming.deviceId === ""
  return { key: personKey(keys.identity, kind, kind === "user" ? incoming.userId : incoming.deviceId), kind, needsConsent }
}
