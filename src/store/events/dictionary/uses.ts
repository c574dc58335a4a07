import type { DictionaryName } from "../../../domain/dimension.ts"

/** The texts and persons of a site that events have used since `watch` was called. */
export interface WatchedUses {
  has(name: DictionaryName, id: number): boolean
  hasPerson(ordinal: number): boolean
}

/** Tracks the texts and persons that events of a site refer to while a sweep of the site runs. Without a sweep it costs almost nothing. */
export class Uses {
  #siteId = 0
  #texts = new Map<DictionaryName, Set<number>>()
  #persons = new Set<number>()

  /** Starts tracking a site, until `end`. */
  watch(siteId: number): WatchedUses {
    this.#siteId = siteId
    const texts = new Map<DictionaryName, Set<number>>()
    const persons = new Set<number>()
    this.#texts = texts
    this.#persons = persons
    return { has: (name, id) => texts.get(name)?.has(id) ?? false, hasPerson: (ordinal) => persons.has(ordinal) }
  }

  end(): void {
    this.#siteId = 0
  }

  text(siteId: number, name: DictionaryName, id: number): void {
    if (siteId !== this.#siteId) return
    const ids = this.#texts.get(name)
    if (ids) ids.add(id)
    else this.#texts.set(name, new Set([id]))
  }

  person(siteId: number, ordinal: number): void {
    if (siteId === this.#siteId) this.#persons.add(ordinal)
  }
}
