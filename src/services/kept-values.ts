import type { DictionaryName } from "../domain/dimension.ts"
import type { SiteDirectory } from "../domain/site.ts"
import type { KeptValues } from "../store/events/writer.ts"
import type { Funnels } from "./funnels.ts"
import type { Goals } from "./goals.ts"

interface KeptValuesOptions {
  directory: Pick<SiteDirectory, "byId">
  goals: Pick<Goals, "rules">
  funnels: Pick<Funnels, "kept">
}

/** Values that a goal, a funnel step or a shield names exactly: no limit on new values holds them back (metrics.md 19.3). */
export function createKeptValues({ directory, goals, funnels }: KeptValuesOptions): KeptValues {
  const isStepOf = (siteId: number, type: "page" | "event", text: string) =>
    funnels.kept(siteId).some(({ steps }) => steps.some((step) => step.type === type && step.match === "exact" && step.value === text))
  const isGoalOf = (siteId: number, isEvent: boolean, text: string) =>
    goals.rules(siteId).some(({ kind, match, value }) => (kind === "event") === isEvent && match === "exact" && value === text)
  const isShielded = (siteId: number, kind: DictionaryName, text: string) =>
    directory.byId(siteId)?.settings.shields.some((shield) => shield.kind === kind && shield.value === text) ?? false
  const hasProperty = (siteId: number, test: (property: [key: string, value: string]) => boolean) =>
    goals.rules(siteId).some(({ props }) => Object.entries(props ?? {}).some(test))

  return (siteId, dictionary, text) => {
    if (dictionary === "name") return isGoalOf(siteId, true, text) || isStepOf(siteId, "event", text)
    if (dictionary === "page" && (isGoalOf(siteId, false, text) || isStepOf(siteId, "page", text))) return true
    if (dictionary === "property") return hasProperty(siteId, ([key]) => key === text)
    // The dictionary has the key's number, not its name: the value is kept under every key, which is a few too many at most.
    if (dictionary.startsWith("property:")) return hasProperty(siteId, ([, value]) => value === text)
    return isShielded(siteId, dictionary, text)
  }
}
