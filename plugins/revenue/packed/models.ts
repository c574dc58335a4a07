import type { Dimensions, FrozenTouch, TOUCH_DIMENSIONS } from "../orders/frozen.ts"

/** The models of attribution, each with its bit in the column `models` of packed transactions. */
export const MODELS = { last_touch: 1, last_touch_direct: 2, first_touch: 4, linear: 8 } as const
export type Model = keyof typeof MODELS
export const MODEL_NAMES = Object.keys(MODELS) as readonly Model[]

/** A touch that is credited with a transaction, or with a part of it, by some models. */
export interface Credit {
  touch: Partial<Record<(typeof TOUCH_DIMENSIONS)[number], string>>
  /** Bits of the models that credit the touch. */
  models: number
  /** Share of the model `linear`, counted from 0 from the earliest touch, and the number of its shares. */
  part: number
  parts: number
}

const ALL = MODELS.last_touch | MODELS.last_touch_direct | MODELS.first_touch | MODELS.linear

/**
 * Returns the touches that the models credit. `touches` are in order of time. A sale whose visit is no touch, such as the return from a
 * payment page, is direct. One without a visit is credited to nothing.
 */
export function creditsOf(touches: readonly FrozenTouch[], dims: Dimensions, isAttributed: boolean): Credit[] {
  if (!isAttributed) return [{ touch: {}, models: ALL, part: 0, parts: 1 }]
  const last = touches.at(-1) ?? { channel: "Direct", ...(dims.entry_page && { entry_page: dims.entry_page }) }
  const sourced = touches.filter(({ source }) => source)
  if (sourced.length === 0) return [{ touch: last, models: ALL, part: 0, parts: 1 }]
  const credits = sourced.map((touch, part): Credit => {
    const isLast = part === sourced.length - 1
    const models =
      MODELS.linear |
      (part === 0 ? MODELS.first_touch : 0) |
      (isLast ? MODELS.last_touch : 0) |
      (touch === last ? MODELS.last_touch_direct : 0)
    return { touch, models, part, parts: sourced.length }
  })
  if (!(last as FrozenTouch).source) credits.push({ touch: last, models: MODELS.last_touch_direct, part: 0, parts: 1 })
  return credits
}
