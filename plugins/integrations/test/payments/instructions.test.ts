import { expect, test } from "bun:test"
import { mapEvent } from "../../payments/mapping/mapping.ts"
import { type Kind, PROVIDERS } from "../../ui/payments/providers.ts"

/** Bodies of an event of a type, without a payment. */
const BODIES: Readonly<Partial<Record<Kind, (type: string) => object>>> = {
  stripe: (type) => ({ id: "evt_1", type, data: { object: {} } }),
  paddle: (event_type) => ({ event_id: "evt_1", event_type, data: {} }),
  lemonsqueezy: (event_name) => ({ meta: { event_name }, data: {} }),
  "payments-generic": (type) => ({ type }),
}

/** Returns whether events of a type can report a payment: anything but `ignored` for their type. */
function isKnown(kind: Kind, type: string): boolean {
  try {
    const mapped = mapEvent(kind, BODIES[kind]!(type))
    return !("ignored" in mapped && mapped.ignored.includes(type))
  } catch {
    return true
  }
}

test.each(Object.keys(BODIES) as Kind[])("the instructions for %s name events that report payments, and no other", (kind) => {
  const { events } = PROVIDERS[kind]
  expect(events.length).toBeGreaterThan(2)
  expect(events.filter((event) => !isKnown(kind, event))).toEqual([])
  expect(isKnown(kind, "customer.created")).toBe(false)
})
