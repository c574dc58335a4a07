import { AppError } from "../domain/error.ts"
import type { Authorize } from "../web/router.ts"

/** Authorization for routes that plugins create before the server exists. */
export interface LateAuthorize {
  /** Returns the authorization for the routes of one plugin, which also requires that the plugin is enabled. */
  forPlugin(id: string, isOn: () => boolean): Authorize
  /** Sets the authorization of the server. */
  bind(authorize: Authorize): void
}

export function lateAuthorize(): LateAuthorize {
  let bound: Authorize | undefined
  const real = (): Authorize => {
    if (!bound) throw new Error("A route was called before the server was created")
    return bound
  }
  return {
    bind(authorize) {
      bound = authorize
    },
    forPlugin(feature, isOn) {
      /** Checks the switch after the authorization, so that strangers cannot learn whether a feature is enabled. */
      const whenOn = <Caller>(caller: Caller): Caller => {
        if (!isOn()) throw new AppError("feature_disabled", "This feature is disabled.")
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
