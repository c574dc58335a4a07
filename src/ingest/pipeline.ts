import type { Site } from "../domain/site.ts"
import { type Arrival, type Draft, type Drop, newDraft, type Refusal, type Setter } from "./draft.ts"
import type { PlaceFile } from "./places.ts"
import type { Shields } from "./shields.ts"
import { type SwitchedStep, setByAreas } from "./steps/areas.ts"
import { setPlace } from "./steps/place.ts"
import * as refusals from "./steps/refusals.ts"
import * as values from "./steps/values.ts"
import { setVisitor } from "./steps/visitor.ts"

/** What became of an event: the finished draft, or the rule that dropped it with the draft as far as it came. */
type Passage = { draft: Draft } | { draft: Draft; drop: Drop }

interface PipelineOptions {
  placeFile: PlaceFile | undefined
  shieldsOf(site: Site): Shields
  /** Of all areas; none unless given. */
  areaSteps?(): readonly SwitchedStep[]
  /** Told of a fault of an area. */
  onError?(error: unknown): void
}

/**
 * The way of every event, whatever payload it came in. The refusals stand in the order of metrics.md 19.1; site, payload
 * and rate are judged before (collect.ts), duplicates and events without a visit after (visits.ts). In `setVisitor` the
 * address leaves the draft for good, and only then areas see what is left.
 */
export function createPipeline({
  placeFile,
  shieldsOf,
  areaSteps = noSteps,
  onError = ignore,
}: PipelineOptions): (arrival: Arrival) => Passage {
  const steps: readonly (Refusal | Setter)[] = [
    refusals.refusePrefetch,
    values.setAgent,
    refusals.refuseBot,
    refusals.refuseHost,
    refusals.refuseIp,
    values.setReferrer,
    refusals.refuseSpam,
    values.setPage,
    refusals.refuseProbe,
    refusals.refusePage,
    setPlace(placeFile),
    refusals.refuseCountry,
    values.setAcquisition,
    values.setTitle,
    values.setProps,
    values.setRevenue,
    values.setLanguage,
    values.setSize,
    refusals.refuseRule,
    refusals.refuseObjection,
    setVisitor,
    setByAreas(areaSteps, onError),
  ]
  return (arrival) => {
    const draft = newDraft(arrival, shieldsOf(arrival.site))
    for (const step of steps) {
      const drop = step(draft)
      if (drop) return { draft, drop }
    }
    return { draft }
  }
}

const NO_STEPS: readonly SwitchedStep[] = []
const noSteps = () => NO_STEPS
const ignore = () => {}
