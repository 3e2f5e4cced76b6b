// Resolves the harness as the suite would. Generated; kept with the results.
let data;

export function initialize(given) {
  data = given;
}

export async function resolve(specifier, context, next) {
  if (specifier === 'writ:harness') return next(data.module, { ...context, parentURL: data.suite });
  if (specifier.startsWith('writ:')) return next(specifier.slice(5), { ...context, parentURL: data.suite });
  if (data.shim && specifier === data.module) return { url: data.shim, shortCircuit: true };
  return next(specifier, context);
}
