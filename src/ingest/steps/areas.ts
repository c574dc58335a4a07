import { COLLECT } from "../../domain/limits.ts"
import type { Site } from "../../domain/site.ts"
import { composed } from "../../domain/text.ts"
import { addCounter, type Draft } from "../draft.ts"
import { byteLength, isStorable, visible, withoutMissing } from "../text.ts"

/** An event as areas see it: what will be stored of it, and nothing of who sent it. */
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
 * What an area knows of an event besides: properties to add, those with the same key in the place of what was sent. Pure and
 * quick: it runs for every event, before the event is answered.
 */
export type AreaStep = (event: PassingEvent) => Readonly<Record<string, string>> | undefined

/** The steps of all areas that are on, as one. A step that fails adds nothing: an event is never lost by what an area does. */
export function setByAreas(steps: () => readonly AreaStep[], onError: (error: unknown) => void): (draft: Draft) => void {
  return (draft) => {
    for (const step of steps()) {
      try {
        const { site, at, incoming, hostname, page, title, props } = draft
        const found = step({ site, at, name: incoming.name, hostname, page, title, props })
        if (found) addProps(draft, found)
      } catch (error) {
        onError(error)
      }
    }
  }
}

/** Within the limits that hold for everybody: what does not fit is left out and counted. */
function addProps(draft: Draft, found: Readonly<Record<string, string>>): void {
  const texts = Object.entries(found).map(([key, value]) => [key, withoutMissing(value)] as const)
  const added = texts.filter(([key, value]) => isProperty(key, value))
  const kept = draft.props.filter(([key]) => !added.some(([name]) => name === key))
  if (added.length < texts.length || kept.length + added.length > COLLECT.props) addCounter(draft, "props_discarded")
  draft.props = [...kept, ...added].slice(0, COLLECT.props)
}

const isProperty = (key: string, value: string): boolean =>
  key !== "" &&
  value !== "" &&
  byteLength(key) <= COLLECT.propKeyBytes &&
  byteLength(value) <= COLLECT.propValueBytes &&
  visible(key) === composed(key) &&
  isStorable(value)
