import { COLLECT } from "../../domain/limits.ts"
import type { Site } from "../../domain/site.ts"
import { addCounter, type Draft } from "../draft.ts"
import { pairFault } from "../payloads/fields.ts"
import { withoutMissing } from "../request/text.ts"

/** An event as areas see it: the values that will be stored, and nothing about the sender. */
export interface PassingEvent {
  readonly site: Site
  /** Epoch ms. */
  readonly at: number
  readonly name: string
  readonly hostname: string
  readonly page: string
  readonly title: string
  readonly props: Draft["props"]
}

/**
 * Returns the properties that an area adds to an event. They replace sent properties with the same key. Must be pure and quick,
 * because it runs for every event before the event is answered.
 */
export type AreaStep = (event: PassingEvent) => Readonly<Record<string, string>> | undefined

/** A step with the state of its area, which can be switched between two events. */
export interface SwitchedStep {
  step: AreaStep
  isOn(): boolean
}

/** Combines the steps of all areas. A step that fails adds nothing, so that an area never causes the loss of an event. */
export function setByAreas(steps: () => readonly SwitchedStep[], onError: (error: unknown) => void): (draft: Draft) => void {
  return (draft) => {
    let event: PassingEvent | undefined
    for (const { step, isOn } of steps()) {
      if (!isOn()) continue
      try {
        event ??= passingEvent(draft)
        const found = step(event)
        if (!found) continue
        addProps(draft, found)
        // The next step sees what this one has added.
        event = undefined
      } catch (error) {
        onError(error)
      }
    }
  }
}

const passingEvent = ({ site, at, incoming, hostname, page, title, props }: Draft): PassingEvent => ({
  site,
  at,
  name: incoming.name,
  hostname,
  page,
  title,
  props,
})

/** Adds properties within the limits of every event. Those that do not fit are left out and counted. */
function addProps(draft: Draft, found: Readonly<Record<string, string>>): void {
  const texts = Object.entries(found).map(([key, value]) => [key, withoutMissing(value)] as const)
  const added = texts.filter(([key, value]) => pairFault(key, value) === undefined)
  const kept = draft.props.filter(([key]) => !added.some(([name]) => name === key))
  if (added.length < texts.length || kept.length + added.length > COLLECT.props) addCounter(draft, "props_discarded")
  draft.props = [...kept, ...added].slice(0, COLLECT.props)
}
