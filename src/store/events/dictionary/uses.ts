import type { DictionaryName } from "../../../domain/dimension.ts"

/** What events have used of a site's texts and persons since the watch began. */
export interface Used {
  has(name: DictionaryName, id: number): boolean
  hasPerson(ordinal: number): boolean
}

/** Notes what events of one site refer to while a sweep of it runs; at other times noting costs next to nothing. */
export class Uses {
  #siteId = 0
  #texts = new Map<DictionaryName, Set<number>>()
  #persons = new Set<number>()

  /** From now on, until `end`. */
  watch(siteId: number): Used {
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
