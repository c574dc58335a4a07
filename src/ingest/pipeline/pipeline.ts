import type { Site } from "../../domain/site.ts"
import { type BufferOptions, EventBuffer } from "../commit/buffer.ts"
import { recordEvent } from "../commit/visits.ts"
import {
  type Arrival,
  type Candidate,
  candidateOf,
  type Draft,
  newDraft,
  type Outcome,
  type Refusal,
  type Setter,
  sampleOf,
} from "../draft.ts"
import type { Shields } from "../enrich/shields.ts"
import * as values from "../enrich/values.ts"
import { setVisitor } from "../identity/visitor.ts"
import { type PlaceFile, setPlace } from "../place/place.ts"
import { type SwitchedStep, setByAreas } from "./areas.ts"
import * as refusals from "./refusals.ts"

interface PipelineOptions extends Omit<BufferOptions, "record"> {
  placeFile: PlaceFile | undefined
  shieldsOf(site: Site): Shields
  /** Steps of the areas. Default: none. */
  areaSteps?(): readonly SwitchedStep[]
}

/** The path of every event, whatever payload it came in. */
export interface Pipeline {
  /**
   * Runs the steps on an event. Returns the event ready for its visit, or why it was dropped. `day` is the local day of the event at its
   * site. Synchronous, because it runs for every event.
   */
  prepare(arrival: Arrival, day: string): Candidate | Outcome
  /** The last steps: the visit and the group commit. Its `store` resolves once the events are on disk. */
  readonly buffer: EventBuffer
}

/**
 * Creates the pipeline: the ordered steps of an event until it is on disk. The refusals are in the order of metrics.md 19.1. Site,
 * payload and rate limit were checked before (`collect/`).
 */
export function createPipeline({ placeFile, shieldsOf, areaSteps = noSteps, ...options }: PipelineOptions): Pipeline {
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
    // Here the address leaves the draft. Only after that do the steps of areas see the event.
    setVisitor,
    setByAreas(areaSteps, options.onError ?? ignore),
  ]
  return {
    prepare(arrival, day) {
      const draft = newDraft(arrival, shieldsOf(arrival.site))
      for (const step of steps) {
        const drop = step(draft)
        if (drop) return dropped(draft, drop, day)
      }
      return candidateOf(draft, day)
    },
    // The visit is chosen inside the group commit, so that a failed commit leaves no open visit behind. It can still drop the event:
    // as a duplicate, or because an engagement report has no open visit.
    buffer: new EventBuffer({ ...options, record: recordEvent }),
  }
}

/** Adds the note of a dropped event. The site's owner is shown page and browser even if the event was dropped before they were set. */
function dropped(draft: Draft, { reason, entry }: Outcome, day: string): Outcome {
  values.setAgent(draft)
  values.setPage(draft)
  const sample = sampleOf(reason!, draft)
  return { reason: reason!, notes: [{ siteId: draft.site.id, day, reason: reason!, sample, ...(entry !== undefined && { entry }) }] }
}

const NO_STEPS: readonly SwitchedStep[] = []
const noSteps = () => NO_STEPS
const ignore = () => {}
