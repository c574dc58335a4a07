import { errorsOf, type PluginError } from "#plugin"

/** Error codes of tracking pixels. */
export const ERRORS = {
  pixel_not_found: {
    status: 404,
    title: "The pixel was not found",
    meaning: "The site has no tracking pixel with this id. It may have been deleted.",
  },
} as const satisfies Record<string, PluginError>

export const pixelError = errorsOf(ERRORS)
