// What a network needs beside products of matrices. Every kernel goes over its numbers with a stride, so any grid does.
// Layout as on the processor: examples, then places row by row, then channels.

typedef unsigned int u32;
typedef long long i64;
#define EACH(i, n) for (i64 i = blockIdx.x * (i64)blockDim.x + threadIdx.x; i < (n); i += gridDim.x * (i64)blockDim.x)

#define WINDOW int height, int width, int channels, int size, int stride, int padding, int out_height, int out_width

extern "C" __global__ void gather(const float* table, const u32* rows, float* out, i64 width, i64 n) {
    EACH(i, n) out[i] = table[rows[i / width] * width + i % width];
}

extern "C" __global__ void fill_rows(float* out, const float* row, i64 columns, i64 n) {
    EACH(i, n) out[i] = row[i % columns];
}

extern "C" __global__ void patches(const float* image, float* out, WINDOW, i64 n) {
    EACH(i, n) {
        i64 rest = i;
        int c = rest % channels; rest /= channels;
        int kx = rest % size; rest /= size;
        int ky = rest % size; rest /= size;
        int ox = rest % out_width; rest /= out_width;
        int oy = rest % out_height; rest /= out_height;
        int y = oy * stride + ky - padding, x = ox * stride + kx - padding;
        bool inside = y >= 0 && y < height && x >= 0 && x < width;
        out[i] = inside ? image[((rest * height + y) * width + x) * channels + c] : 0.0f;
    }
}

// Each pixel gathers from the patches that saw it: the same order always.
extern "C" __global__ void unpatch(const float* seen, float* image, WINDOW, i64 n) {
    EACH(i, n) {
        i64 rest = i;
        int c = rest % channels; rest /= channels;
        int x = rest % width; rest /= width;
        int y = rest % height; rest /= height;
        float sum = 0.0f;
        for (int ky = 0; ky < size; ky++) {
            int oy = y + padding - ky;
            if (oy < 0 || oy % stride || oy / stride >= out_height) continue;
            for (int kx = 0; kx < size; kx++) {
                int ox = x + padding - kx;
                if (ox < 0 || ox % stride || ox / stride >= out_width) continue;
                i64 place = (rest * out_height + oy / stride) * out_width + ox / stride;
                sum += seen[((place * size + ky) * size + kx) * channels + c];
            }
        }
        image[i] = sum;
    }
}

extern "C" __global__ void copy(const float* from, float* to, i64 n) { EACH(i, n) to[i] = from[i]; }
extern "C" __global__ void relu(float* x, i64 n) { EACH(i, n) x[i] = x[i] > 0.0f ? x[i] : 0.0f; }
extern "C" __global__ void relu_back(const float* y, float* s, i64 n) { EACH(i, n) s[i] = y[i] > 0.0f ? s[i] : 0.0f; }
extern "C" __global__ void tanh_forward(float* x, i64 n) { EACH(i, n) x[i] = tanhf(x[i]); }
extern "C" __global__ void tanh_back(const float* y, float* s, i64 n) { EACH(i, n) s[i] *= 1.0f - y[i] * y[i]; }

extern "C" __global__ void largest(const float* in, float* out, u32* chosen, WINDOW, i64 n) {
    EACH(i, n) {
        i64 rest = i;
        int c = rest % channels; rest /= channels;
        int ox = rest % out_width; rest /= out_width;
        int oy = rest % out_height; rest /= out_height;
        float best = 0.0f; u32 which = 0;
        for (int k = 0; k < size * size; k++) {
            int y = oy * stride + k / size, x = ox * stride + k % size;
            float value = in[((rest * height + y) * width + x) * channels + c];
            if (k == 0 || value > best) { best = value; which = k; }
        }
        out[i] = best; chosen[i] = which;
    }
}

// mean = 0: each slope goes to the pixel that was chosen; mean = 1: each pixel has its share.
extern "C" __global__ void pool_back(const float* slopes, const u32* chosen, float* back, int mean, WINDOW, i64 n) {
    EACH(i, n) {
        i64 rest = i;
        int c = rest % channels; rest /= channels;
        int x = rest % width; rest /= width;
        int y = rest % height; rest /= height;
        float sum = 0.0f;
        for (int k = 0; k < size * size; k++) {
            int oy = y - k / size, ox = x - k % size;
            if (oy < 0 || ox < 0 || oy % stride || ox % stride) continue;
            oy /= stride; ox /= stride;
            if (oy >= out_height || ox >= out_width) continue;
            i64 at = ((rest * out_height + oy) * out_width + ox) * channels + c;
            if (mean) sum += slopes[at] / (size * size);
            else if (chosen[at] == k) sum += slopes[at];
        }
        back[i] = sum;
    }
}

extern "C" __global__ void average(const float* in, float* out, WINDOW, i64 n) {
    EACH(i, n) {
        i64 rest = i;
        int c = rest % channels; rest /= channels;
        int ox = rest % out_width; rest /= out_width;
        int oy = rest % out_height; rest /= out_height;
        float sum = 0.0f;
        for (int k = 0; k < size * size; k++) {
            int y = oy * stride + k / size, x = ox * stride + k % size;
            sum += in[((rest * height + y) * width + x) * channels + c];
        }
        out[i] = sum / (size * size);
    }
}

// The sum over a block, known to every thread of it. Blocks are of 128 threads.
__device__ double whole(double value) {
    __shared__ double parts[128];
    parts[threadIdx.x] = value;
    __syncthreads();
    for (int half = 64; half > 0; half /= 2) {
        if (threadIdx.x < half) parts[threadIdx.x] += parts[threadIdx.x + half];
        __syncthreads();
    }
    double result = parts[0];
    __syncthreads();
    return result;
}

// A block an example and group. Leaves mean and one over the deviation in `moments`.
extern "C" __global__ void norm_forward(const float* in, float* out, const float* scale, const float* shift, float* moments,
                                        int places, int channels, int groups, i64 blocks) {
    int wide = channels / groups, count = wide * places;
    for (i64 block = blockIdx.x; block < blocks; block += gridDim.x) {
        i64 first = block / groups * places * channels + block % groups * wide;
        double sum = 0.0, squares = 0.0;
        for (int k = threadIdx.x; k < count; k += blockDim.x) sum += in[first + (i64)(k / wide) * channels + k % wide];
        double mean = whole(sum) / count;
        for (int k = threadIdx.x; k < count; k += blockDim.x) {
            double gap = in[first + (i64)(k / wide) * channels + k % wide] - mean;
            squares += gap * gap;
        }
        float invert = (float)(1.0 / sqrt(whole(squares) / count + 1e-5));
        for (int k = threadIdx.x; k < count; k += blockDim.x) {
            i64 at = first + (i64)(k / wide) * channels + k % wide;
            int c = block % groups * wide + k % wide;
            out[at] = scale[c] * ((in[at] - (float)mean) * invert) + shift[c];
        }
        if (threadIdx.x == 0) { moments[2 * block] = (float)mean; moments[2 * block + 1] = invert; }
    }
}

extern "C" __global__ void norm_back(const float* in, const float* slopes, float* back, const float* scale,
                                     const float* moments, int places, int channels, int groups, i64 blocks) {
    int wide = channels / groups, count = wide * places;
    for (i64 block = blockIdx.x; block < blocks; block += gridDim.x) {
        i64 first = block / groups * places * channels + block % groups * wide;
        float mean = moments[2 * block], invert = moments[2 * block + 1];
        double plain = 0.0, along = 0.0;
        for (int k = threadIdx.x; k < count; k += blockDim.x) {
            i64 at = first + (i64)(k / wide) * channels + k % wide;
            double weighed = (double)scale[block % groups * wide + k % wide] * slopes[at];
            plain += weighed;
            along += weighed * ((in[at] - mean) * invert);
        }
        float flat = (float)(whole(plain) / count), tilt = (float)(whole(along) / count);
        for (int k = threadIdx.x; k < count; k += blockDim.x) {
            i64 at = first + (i64)(k / wide) * channels + k % wide;
            float normal = (in[at] - mean) * invert;
            back[at] = invert * (scale[block % groups * wide + k % wide] * slopes[at] - flat - normal * tilt);
        }
    }
}

// A thread an example and channel; `stride` numbers from one example's gradient to the next.
extern "C" __global__ void norm_gradient(const float* in, const float* slopes, const float* moments, float* scale, float* shift,
                                         i64 stride, int places, int channels, int groups, i64 n) {
    EACH(i, n) {
        i64 example = i / channels; int c = i % channels;
        const float* own = moments + 2 * (example * groups + c / (channels / groups));
        float along = 0.0f, plain = 0.0f;
        for (int p = 0; p < places; p++) {
            i64 at = (example * places + p) * channels + c;
            along += slopes[at] * ((in[at] - own[0]) * own[1]);
            plain += slopes[at];
        }
        scale[example * stride + c] = along; shift[example * stride + c] = plain;
    }
}

// A thread an example and channel: the sum of its slopes over the places.
extern "C" __global__ void bias_gradient(const float* slopes, float* out, i64 stride, int places, int channels, i64 n) {
    EACH(i, n) {
        i64 example = i / channels; int c = i % channels;
        float sum = 0.0f;
        for (int p = 0; p < places; p++) sum += slopes[(example * places + p) * channels + c];
        out[example * stride + c] = sum;
    }
}

// kind 0: cross-entropy, 1: logistic, 2: squared. A thread an example.
extern "C" __global__ void loss_slopes(const float* outputs, const u32* classes, const float* values, const u32* rows, float* slopes,
                                       int kind, int width, i64 n) {
    EACH(i, n) {
        const float* z = outputs + i * width;
        float* s = slopes + i * width;
        if (kind == 0) {
            u32 wanted = classes[rows[i]];
            float top = z[0];
            for (int j = 1; j < width; j++) top = fmaxf(top, z[j]);
            double total = 0.0;
            for (int j = 0; j < width; j++) total += exp((double)z[j] - top);
            for (int j = 0; j < width; j++) s[j] = wanted < width ? (float)(exp((double)z[j] - top) / total) : 0.0f;
            if (wanted < width) s[wanted] -= 1.0f;
        } else {
            for (int j = 0; j < width; j++) {
                double mean = kind == 1 ? 1.0 / (1.0 + exp(-(double)z[j])) : (double)z[j];
                s[j] = (float)(mean - values[(i64)rows[i] * width + j]);
            }
        }
    }
}

// A block an example: the square of what was formed of its gradient.
extern "C" __global__ void square_kept(const float* kept, double* squares, i64 each, i64 count) {
    for (i64 example = blockIdx.x; example < count; example += gridDim.x) {
        double sum = 0.0;
        for (i64 k = threadIdx.x; k < each; k += blockDim.x) { double x = kept[example * each + k]; sum += x * x; }
        sum = whole(sum);
        if (threadIdx.x == 0) squares[example] = sum;
    }
}

// A block an example: adds (|x|^2 + 1)|s|^2.
extern "C" __global__ void square_linear(const float* values, const float* slopes, double* squares, int inputs, int outputs, i64 count) {
    for (i64 example = blockIdx.x; example < count; example += gridDim.x) {
        double x2 = 0.0, s2 = 0.0;
        for (int k = threadIdx.x; k < inputs; k += blockDim.x) { double x = values[example * inputs + k]; x2 += x * x; }
        for (int k = threadIdx.x; k < outputs; k += blockDim.x) { double s = slopes[example * outputs + k]; s2 += s * s; }
        x2 = whole(x2); s2 = whole(s2);
        if (threadIdx.x == 0) squares[example] += (x2 + 1.0) * s2;
    }
}

extern "C" __global__ void factors_of(const double* squares, float* factors, double clip, double slack, i64 n) {
    EACH(i, n) {
        double bound = sqrt(squares[i]) * (1.0 + slack);
        // No number, or none that is finite: nothing.
        bool finite = bound <= 1.7976931348623157e308;
        factors[i] = !finite ? 0.0f : bound > clip ? __double2float_rz(clip / bound) : 1.0f;
    }
}

// Rows times the factor of their example, rounded to 0 below the smallest normal number.
extern "C" __global__ void weigh(float* rows, const float* factors, i64 width, i64 n) {
    EACH(i, n) {
        float factor = factors[i / width], weighed = factor * rows[i];
        rows[i] = factor > 0.0f && fabsf(weighed) >= 1.17549435e-38f ? weighed : 0.0f;
    }
}

// Rows of examples that contribute nothing, so that what is not finite in them goes nowhere.
extern "C" __global__ void wipe(float* rows, const float* factors, i64 width, i64 n) {
    EACH(i, n) if (!(factors[i / width] > 0.0f)) rows[i] = 0.0f;
}
