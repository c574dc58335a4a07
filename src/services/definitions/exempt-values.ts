import type { DictionaryName } from "../../domain/dimension.ts"
import type { Shield } from "../../domain/shield.ts"
import type { SiteDirectory } from "../../domain/site.ts"
import type { ExemptValues } from "../../store/events/writer.ts"
import type { Funnels, Goals } from "./goals.ts"
import type { InstanceShields } from "./shields.ts"

interface ExemptValuesOptions {
  directory: Pick<SiteDirectory, "byId">
  goals: Pick<Goals, "rules">
  funnels: Pick<Funnels, "all">
  instanceShields: Pick<InstanceShields, "current">
}

/** Creates the test for values that a goal, a funnel step or a shield names exactly. They are stored even beyond the limit on new values (metrics.md 19.3). */
export function createExemptValues({ directory, goals, funnels, instanceShields }: ExemptValuesOptions): ExemptValues {
  const isStepOf = (siteId: number, type: "page" | "event", text: string) =>
    funnels.all(siteId).some(({ steps }) => steps.some((step) => step.type === type && step.match === "exact" && step.value === text))
  const isGoalOf = (siteId: number, isEvent: boolean, text: string) =>
    goals.rules(siteId).some(({ kind, match, value }) => (kind === "event") === isEvent && match === "exact" && value === text)
  const isShielded = (siteId: number, test: (shield: Shield) => boolean) =>
    (directory.byId(siteId)?.settings.shields.some(test) ?? false) || instanceShields.current().some(test)
  const hasProperty = (siteId: number, test: (property: [key: string, value: string]) => boolean) =>
    goals.rules(siteId).some(({ props }) => Object.entries(props ?? {}).some(test))

  return (siteId, dictionary, text) => {
    if (isShielded(siteId, (shield) => namesExactly(shield, dictionary, text))) return true
    if (dictionary === "name") return isGoalOf(siteId, true, text) || isStepOf(siteId, "event", text)
    if (dictionary === "page" && (isGoalOf(siteId, false, text) || isStepOf(siteId, "page", text))) return true
    if (dictionary === "property") return hasProperty(siteId, ([key]) => key === text)
    // The name of the dictionary contains the number of the key and not its text, so the value is exempt under every key.
    if (dictionary.startsWith("property:")) return hasProperty(siteId, ([, value]) => value === text)
    return false
  }
}

/** Returns whether a shield names a value of a dimension: directly, or in a condition that tests for equality. */
function namesExactly({ kind, value, conditions = [] }: Shield, dictionary: DictionaryName, text: string): boolean {
  if (kind === dictionary) return value === text
  return conditions.some(({ dimension, property, operator, values }) => {
    if (dictionary === "property") return property === text
    if (operator !== "is" && operator !== "is_not") return false
    const isOf = dimension === "property" ? dictionary.startsWith("property:") : dictionary === (dimension === "event" ? "name" : dimension)
    return isOf && values.includes(text)
  })
}
