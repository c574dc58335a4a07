import type { Source } from "../source.ts"
import { simpleAnalytics } from "./simple-analytics.ts"
import { umami } from "./umami.ts"

/** The sources, in the order of the gallery. */
export const SOURCES: readonly Source[] = [umami, simpleAnalytics]

export const sourceById = (id: string): Source | undefined => SOURCES.find((source) => source.id === id)
