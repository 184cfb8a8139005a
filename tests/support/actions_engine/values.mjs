// Plain values as data of GitHub's expression engine, and expressions as data.
import { data, Evaluator, Lexer, Parser } from "@actions/expressions";
import { TokenType } from "@actions/expressions/lexer";

// The package takes one pair of quotes out of a text and leaves further ones; the runner takes out all.
const lex = Lexer.prototype.lex;
Lexer.prototype.lex = function () {
  const { tokens } = lex.call(this);
  for (const token of tokens)
    if (token.type === TokenType.STRING) token.value = token.lexeme.slice(1, -1).replaceAll("''", "'");
  return { tokens };
};

/** Something that GitHub may well do, and this simulator does not: an error, never passed over. */
export class NotSimulated extends Error {}

/** The `env` context: on Linux its names are case-sensitive, unlike those of every other context. */
class Environment extends data.Dictionary {
  get(name) {
    return this.keys.includes(name) ? this.v[this.keys.indexOf(name)] : undefined;
  }
  add(name, value) {
    this.keys.push(name);
    this.v.push(value);
  }
  pairs() {
    return this.keys.map((key, index) => ({ key, value: this.v[index] }));
  }
}

/** A plain value (from JSON) as data. */
export function asData(plain) {
  if (plain === null || plain === undefined) return new data.Null();
  if (typeof plain === "string") return new data.StringData(plain);
  if (typeof plain === "number") return new data.NumberData(plain);
  if (typeof plain === "boolean") return new data.BooleanData(plain);
  if (Array.isArray(plain)) return new data.Array(...plain.map(asData));
  return new data.Dictionary(...pairs(plain));
}

/** Variables of the environment as the context `env`. */
export function asEnvironment(plain) {
  return new Environment(...pairs(plain));
}

const pairs = (plain) =>
  Object.entries(plain).map(([key, item]) => ({ key, value: isData(item) ? item : asData(item) }));

/** Whether something is data already; a plain mapping may have any key. */
const isData = (item) => typeof item?.coerceString === "function";

/**
 * The value of an expression. `contexts` are data by name; `functions` are what the engine does not bring with it, by
 * name in lower case. What is not among them is an error.
 */
export function evaluate(expression, contexts, functions = {}) {
  const tree = treeOf(expression, Object.keys(contexts), Object.keys(functions));
  const known = new Map(Object.entries(functions).map(([name, call]) => [name, { call }]));
  return new Evaluator(tree, new Contexts(contexts), known).evaluate();
}

/** Contexts by name, each made data when it is asked for. */
class Contexts extends data.Dictionary {
  constructor(plain) {
    super();
    this.plain = plain;
  }
  get(name) {
    const found = this.plain[name.toLowerCase()];
    return isData(found) ? found : asData(found);
  }
}

const MOST_TREES = 5000;
const trees = new Map(); // one workflow is walked through many times

function treeOf(expression, contexts, functions) {
  const key = JSON.stringify([expression, contexts, functions]);
  if (!trees.has(key)) {
    const infos = functions.map((name) => ({ name, minArgs: 0, maxArgs: 255 }));
    if (trees.size >= MOST_TREES) trees.clear();
    trees.set(key, new Parser(new Lexer(expression).lex().tokens, contexts, infos).parse());
  }
  return trees.get(key);
}

/** Whether a value counts as true in a condition. */
export function isTrue(value) {
  const { kind } = value;
  if (kind === data.Kind.Null) return false;
  if (kind === data.Kind.Array || kind === data.Kind.Dictionary) return true;
  return Boolean(value.value);
}
