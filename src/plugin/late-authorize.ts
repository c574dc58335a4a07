import { AppError } from "../domain/error.ts"
import type { Authorize } from "./router.ts"

/** A plugin makes its routes before the server that decides who may use them. */
export interface LateAuthorize {
  /** For the routes of one plugin: all of them hang on its switch. */
  forPlugin(id: string, isOn: () => boolean): Authorize
  /** From now on this one decides. */
  bind(authorize: Authorize): void
}

export function lateAuthorize(): LateAuthorize {
  let bound: Authorize | undefined
  const real = (): Authorize => {
    if (!bound) throw new Error("A route was called before the server was made")
    return bound
  }
  return {
    bind(authorize) {
      bound = authorize
    },
    forPlugin(feature, isOn) {
      /** Of callers who need not be let in: a stranger learns no more of what is off than of what is on. */
      const whenOn = <Caller>(caller: Caller): Caller => {
        if (!isOn()) throw new AppError("feature_disabled", "This area is switched off.")
        return caller
      }
      return {
        open: async (call, rule) => whenOn(await real().open(call, rule)),
        self: async (call, rule) => whenOn(await real().self(call, rule)),
        signedIn: (call, rule) => real().signedIn(call, { ...rule, feature }),
        instanceAdmin: (call, rule) => real().instanceAdmin(call, { ...rule, feature }),
        site: (call, rule) => real().site(call, { ...rule, feature }),
        organization: (call, rule) => real().organization(call, { ...rule, feature }),
      }
    },
  }
}
