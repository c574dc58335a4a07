import type { Source } from "./source.ts"

/** The sources, in the order of the gallery. */
export const SOURCES: readonly Source[] = []

export const sourceById = (id: string): Source | undefined => SOURCES.find((source) => source.id === id)
